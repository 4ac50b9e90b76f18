module parcel.example/envfile

go 1.19
